import type { Needs } from '../ports.ts'
import type { User } from './user.ts'

/** All registered persons, for the operator, in the order of their e-mail addresses. */
export async function listUsers(ports: Needs<'users'>): Promise<User[]> {
  return ports.users.list()
}
