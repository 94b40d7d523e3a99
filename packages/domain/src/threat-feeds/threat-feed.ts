/** What the entries of a feed are, and whether they accuse or excuse. */
export const FEED_KINDS = ['ip', 'domain', 'allow-ip', 'allow-domain'] as const
export type FeedKind = (typeof FEED_KINDS)[number]
