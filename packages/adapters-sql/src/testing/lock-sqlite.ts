import Sqlite from 'better-sqlite3'

// Run as a process of its own: takes the write lock of the SQLite file that it is given, says so, and keeps it until it
// is killed.

const connection = new Sqlite(process.argv[2])
connection.exec('begin exclusive')
process.stdout.write('locked\n')
// A connection that nothing refers to would be closed.
setInterval(() => connection.inTransaction, 1000)
