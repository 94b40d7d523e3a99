/**
 * A pattern that is made when it is first needed. One that names properties of Unicode takes milliseconds, and written as a
 * literal it would take them of everybody who imports the rules.
 */
export function pattern(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined
  return () => {
    made ??= new RegExp(source, flags)
    return made
  }
}
