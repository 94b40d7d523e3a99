import { allContracts } from '../contracts/index.ts'
import { memoryPorts } from './index.ts'

allContracts('memory', async () => ({ ports: memoryPorts(), close: async () => {} }))
