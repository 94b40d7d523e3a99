// The domain on a SQLite file, with a subscriber of its own to what happens in it.
import { migrate, openDatabase, sqlPorts } from '@security-management/adapters-sql'
import {
  createEventBus,
  createOrganization,
  createVpnProfile,
  DomainError,
  NO_FEEDS,
  readTrafficHere,
  registerUser,
  removeOrganization,
  subscribe,
} from '@security-management/domain'
import { systemSurroundings } from '@security-management/domain/memory'

const database = await openDatabase(process.env.DATABASE_URL ?? 'sqlite:example.sqlite')
await migrate(database)
const surroundings = systemSurroundings()
const openTrafficReader = readTrafficHere(surroundings.newSha256)
const ports = { ...surroundings, ...sqlPorts(database, createEventBus()), openTrafficReader, feeds: () => NO_FEEDS }

const types = ['organization.created', 'vpn_profile.created', 'organization.removed']
subscribe(ports.bus, types, (event) => console.log(event.type, 'in organization', event.organization), console.error)

const ada = { user: (await registerUser(ports, { email: 'ada@acme.example' })).id }
const eve = { user: (await registerUser(ports, { email: 'eve@elsewhere.example' })).id }
const organization = await createOrganization(ports, ada, { name: 'Acme' })
await createVpnProfile(ports, ada, { organization, email: 'ada@acme.example' })
try {
  await removeOrganization(ports, eve, organization)
} catch (error) {
  if (!(error instanceof DomainError)) throw error
  console.log('eve is refused:', error.code)
}
await removeOrganization(ports, ada, organization)
await database.close()
