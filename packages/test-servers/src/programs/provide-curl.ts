import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { MissingError } from '../missing-error.ts'
import { provideFolder } from './cached-folder.ts'
import { provideProgram } from './provide-program.ts'

/**
 * The PATH for a shell in which `curl` works: the real curl if it exists or can be installed,
 * otherwise a substitute with the options that the documentation uses.
 */
export async function withCurlOnPath(path = process.env.PATH ?? ''): Promise<string> {
  try {
    return [path, dirname(await provideProgram('curl'))].join(delimiter)
  } catch (error) {
    if (!(error instanceof MissingError)) throw error
    return [await provideStandIn(), path].join(delimiter)
  }
}

/** A folder with a program named curl. */
export function provideStandIn(): Promise<string> {
  return provideFolder(`curl-stand-in-${process.version}`, async (draft) => {
    const program = join(import.meta.dirname, 'curl-stand-in.ts')
    const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`
    await writeFile(join(draft, 'curl'), script, { mode: 0o755 })
  })
}
