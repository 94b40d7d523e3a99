import type { CreateTrafficReading } from './traffic-reading.ts'

/** Loads what reads traffic files, once: its code and tables would be half the time that importing the rules takes. */
export async function loadTrafficReading(): Promise<CreateTrafficReading> {
  const { createTrafficReading } = await import('./create-traffic-reading.ts')
  return createTrafficReading
}
