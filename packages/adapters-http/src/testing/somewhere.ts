import type { Route } from '../route.ts'
import { EXAMPLES } from './examples.ts'
import { pathOf } from './requests.ts'
import type { Site } from './world.ts'

/**
 * A path of the route that leads somewhere, for the owner of the site, who is `user`; `spare` is a token of theirs that
 * they can do without.
 */
export function somewhere(route: Route, site: Site & { spare?: number }, user: string): string {
  const { path } = EXAMPLES[route.id]?.(site, { viewer: user, notification: 1, spare: site.spare ?? 1 }) ?? { path: [] }
  return pathOf(route, ...path)
}
