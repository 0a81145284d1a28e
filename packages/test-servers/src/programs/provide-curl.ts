import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { MissingError } from '../missing-error.ts'
import { provideFolder } from './cached-folder.ts'
import { provideProgram } from './provide-program.ts'

/**
 * The PATH for a shell in which `curl` works: the real one where there is one or where it can be
 * installed, and elsewhere a stand-in that knows the options of the documentation.
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
