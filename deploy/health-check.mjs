// Ends with 0 where the service on this machine is ready, else with 1 and what is wrong. Used by the container.
const { HOST, PORT, ADMIN_HOST, ADMIN_PORT } = process.env
const adminPort = Number(ADMIN_PORT || 9090)
try {
  const { ok, text } = await (adminPort > 0 ? ask(ADMIN_HOST, adminPort, '/ready') : askService())
  process.stdout.write(`${text}\n`)
  process.exitCode = ok ? 0 : 1
} catch (error) {
  process.stdout.write(`${error.cause?.message ?? error.message}\n`)
  process.exitCode = 1
}

/** Without the second listener: whether it answers who sends no token, which it does without the database. */
async function askService() {
  const { status, text } = await ask(HOST, PORT || 8080, '/api/v1/me')
  const ok = status === 401 && text === '{"error":1,"messages":[9153]}'
  return { ok, text: ok ? 'The service answers' : text }
}

async function ask(name, port, path) {
  const isEverywhere = ['', '0.0.0.0', '::'].includes(name ?? '')
  const host = isEverywhere ? '127.0.0.1' : name.includes(':') ? `[${name}]` : name
  const response = await fetch(`http://${host}:${port}${path}`, { signal: AbortSignal.timeout(2500) })
  return { ok: response.ok, status: response.status, text: await response.text() }
}
