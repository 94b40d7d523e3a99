import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { everythingDocumented } from './documented.ts'

/**
 * Gives all test files one place to note which answers they saw; where all files ran, and passed, fails unless
 * everything that is documented was seen.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'seen-'))
  const file = join(directory, 'answers')
  await writeFile(file, '')
  process.env.SEEN_ANSWERS = file
  return async () => {
    const seen = new Set((await readFile(file, 'utf8')).split('\n'))
    await rm(directory, { recursive: true, force: true })
    if (!(await allRan(project))) return
    const unseen = everythingDocumented().filter((documented) => !seen.has(documented))
    if (unseen.length > 0) {
      throw new Error(`Documented, and in no answer of any test:\n  ${unseen.join('\n  ')}`)
    }
  }
}

/** Whether every test of the project ran and passed: a part of them sees a part of the answers. */
async function allRan(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles()
  const modules = project.vitest.state.getTestModules().filter((module) => module.project === project)
  const passed = new Set(modules.filter((module) => module.state() === 'passed').map(({ moduleId }) => moduleId))
  return project.config.testNamePattern === undefined && testFiles.every((file) => passed.has(file))
}
