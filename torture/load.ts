/** Limits on a single client that would keep the load of a scenario away: it comes from one address, by few tokens. */
export const UNLIMITED = {
  MAX_CONNECTIONS: '10000',
  MAX_REQUESTS_PER_CONNECTION: '1000000',
  MAX_FAILED_AUTHENTICATIONS: 'off',
  RATE_LIMIT: 'off',
}
