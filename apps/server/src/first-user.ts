import { DomainError, issueToken, type Ports, registerUser } from '@security-management/domain'

/** The first person of a new service, and their token. */
export type FirstUser = { id: string; email: string; token: string }

const FIRST_USER = { email: 'admin@localhost', username: 'admin', first_name: 'Administrator' }

/** Registers a first person where nobody is; undefined where somebody is, or another process was faster. */
export async function registerFirstUser(ports: Ports): Promise<FirstUser | undefined> {
  if (!(await ports.users.isEmpty())) return undefined
  try {
    const { id, email } = await registerUser(ports, FIRST_USER)
    const { token } = await issueToken(ports, { user: id, name: 'first token' })
    return { id, email, token }
  } catch (error) {
    if (error instanceof DomainError && error.code === 'conflict') return undefined
    throw error
  }
}
