import type { User } from './user.ts'

/** Registered persons. No two have the same e-mail address, compared without case. */
export type UserStore = {
  /** Stores the person; false, and nothing stored, if the address is taken. */
  insert(user: User): Promise<boolean>
  find(id: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  /** Replaces what `edit` names. */
  update(id: string, edit: Partial<Pick<User, 'first_name' | 'last_name' | 'locale'>>): Promise<void>
  /**
   * Takes these persons' locks until the transaction ends, so that a rule over what is theirs can read and then write.
   */
  lock(ids: readonly string[]): Promise<void>
  /** Everybody, in the order of their e-mail addresses. */
  list(): Promise<User[]>
  isEmpty(): Promise<boolean>
}
