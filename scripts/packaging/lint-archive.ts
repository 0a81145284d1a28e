import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import type { Archive } from './archive.ts'
import { root } from './published-packages.ts'
import { runCommand } from './run-command.ts'

/** publint: checks that the fields of package.json match the files and each other. */
export async function runPublint({ file, manifest }: Archive): Promise<void> {
  const tarball = await new Blob([readFileSync(file)]).arrayBuffer()
  const { messages } = await publint({ pack: { tarball }, strict: true })
  if (messages.length === 0) return
  throw new Error(
    messages.map((each) => formatMessage(each, manifest, { color: false }) ?? each.code).join('\n'),
  )
}

/** attw: checks that every subpath resolves to the right types in each module resolution. */
export async function runAttw({ file, name, subpaths }: Archive): Promise<void> {
  const hasCommonJs = subpaths.some(({ commonJs }) => commonJs !== undefined)
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js')
  const entrypoints = subpaths.map(({ specifier }) => `.${specifier.slice(name.length)}`)
  await runCommand(
    process.execPath,
    // attw does not expand wildcards, so each subpath is passed.
    [
      attw,
      file,
      '--profile',
      hasCommonJs ? 'strict' : 'esm-only',
      '--format',
      'table-flipped',
      '--no-color',
      '--entrypoints',
      ...entrypoints,
    ],
    { cwd: root },
  )
}
