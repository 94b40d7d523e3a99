import { readFile } from 'node:fs/promises'
import { importAssessments, importCloudDefenses, type Ports } from '@security-management/domain'
import type { Command } from './command.ts'
import { explain } from './explain.ts'
import type { OnProgress } from './progress.ts'

/** Takes in a file of cloud defense configurations, all or nothing. */
export const importCloudDefenseCommand = importCommand('import cloud-defense', 'cloud defenses', importCloudDefenses)

/** Takes in a file of assessments, all or nothing. */
export const importAssessmentsCommand = importCommand('import assessments', 'assessments', importAssessments)

function importCommand(
  name: string,
  what: string,
  take: (ports: Ports, input: unknown, onProgress: OnProgress) => Promise<number>,
): Command {
  return {
    name,
    about: `imports ${what}: an array of records, all or nothing`,
    args: ['FILE.json'],
    async run({ args: [file = ''], withPorts, print, progress }) {
      const input = await readJson(file)
      const imported = await withPorts(async ({ ports }) => {
        try {
          return await take(ports, input, progress(`importing ${what}`))
        } catch (error) {
          throw new Error(`Nothing was imported from ${file}: ${explain(error)}`, { cause: error })
        }
      })
      print({ text: `imported ${imported} ${what}`, json: { imported } })
    },
  }
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(`${file} cannot be read: ${error.message}`)
  })
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new Error(`${file} is not JSON: ${explain(error)}`)
  }
}
