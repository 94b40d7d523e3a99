import { DomainError } from '@security-management/domain'

// SQLite: busy, locked, disk full, an I/O error, a file that cannot be opened or written.
const SQLITE = /^SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|PROTOCOL)/

// PostgreSQL: classes 08 (connection), 53 (resources), 57 (operator's intervention, timeouts), 58 (system), 55P03 (lock
// not available), 25006 (read-only), and what is left of 40 after the retries.
const POSTGRES = /^(?:08|53|57|58)[0-9A-Z]{3}$|^(?:55P03|25006|40001|40P01)$/

// Node's sockets.
const SOCKET = /^E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)$/

// Errors of `pg` itself carry no code.
const PG_CLIENT =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after calling end)/

/**
 * The error as use cases know it: `unavailable` when the database cannot answer now and the same call may succeed
 * later, else unchanged.
 */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const passing = SQLITE.test(code) || POSTGRES.test(code) || SOCKET.test(code) || PG_CLIENT.test(error.message)
  return passing ? new DomainError('unavailable', [], { cause: error }) : error
}
