import { conflict } from '../errors.ts'
import type { Stores } from '../ports.ts'

type Reads = Pick<Stores, 'organizations' | 'documents' | 'traffic'>

/**
 * Lets an upload begin if the organization has any room left.
 *
 * @throws DomainError `conflict`.
 */
export async function requireRoom(stores: Reads, organization: number, quota: number | undefined): Promise<void> {
  if (quota !== undefined && (await sizeOf(stores, organization)) >= quota) throw full(quota)
}

/**
 * Lets the running unit keep what it has just stored if the organization is within its quota with it. Holds the
 * organization's lock, so that two uploads at once cannot both take the room that is enough for one.
 *
 * @throws DomainError `conflict`.
 */
export async function requireStorage(stores: Reads, organization: number, quota: number | undefined): Promise<void> {
  if (quota === undefined) return
  await stores.organizations.lock(organization)
  if ((await sizeOf(stores, organization)) > quota) throw full(quota)
}

/** Bytes of the documents and of the kept traffic files of an organization. */
async function sizeOf({ documents, traffic }: Reads, organization: number): Promise<number> {
  return (await documents.sizeOf(organization)) + (await traffic.rawSizeOf(organization))
}

function full(quota: number) {
  return conflict('', `The organization may store ${quota} bytes of documents and traffic files, and they are used up`)
}
