export * from './file-mailer.ts'
export type { MailSettings } from './invitation-message.ts'
export * from './smtp-mailer.ts'
