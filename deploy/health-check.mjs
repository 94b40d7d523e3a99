// Ends with 0 where the service on this machine is ready, else with 1 and what is wrong. Used by the container.
const { ADMIN_HOST = '', ADMIN_PORT = '' } = process.env
const everywhere = ['', '0.0.0.0', '::']
const host = everywhere.includes(ADMIN_HOST) ? '127.0.0.1' : ADMIN_HOST.includes(':') ? `[${ADMIN_HOST}]` : ADMIN_HOST
try {
  const response = await fetch(`http://${host}:${ADMIN_PORT || 9090}/ready`, { signal: AbortSignal.timeout(2500) })
  process.stdout.write(`${await response.text()}\n`)
  process.exitCode = response.ok ? 0 : 1
} catch (error) {
  process.stdout.write(`${error.cause?.message ?? error.message}\n`)
  process.exitCode = 1
}
