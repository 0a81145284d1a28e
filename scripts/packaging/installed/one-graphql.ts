import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import { readJson, root } from '../published-packages.ts'

const apollo = '@apollo/server'
const apolloVersion = '5.5.1'

/**
 * A project that already has graphql 16 or 17, such as one with Apollo Server, must keep a single
 * copy of it, because a schema created by one copy is refused by another.
 */
export async function proveOneGraphql(project: Project, prove: Proofs['prove']): Promise<void> {
  const program = 'beside-apollo.mjs'
  cpSync(join(import.meta.dirname, 'plain', program), join(project.folder, program))
  // Apollo Server 5 works with graphql 17, although its peer range ends at 16.
  const file = join(project.folder, 'package.json')
  const manifest: object = JSON.parse(readFileSync(file, 'utf8'))
  const overrides = { [apollo]: { graphql: '$graphql' } }
  writeFileSync(file, JSON.stringify({ ...manifest, overrides }))
  for (const name of ['graphql', 'graphql-16']) {
    const { version } = readJson<{ version: string }>(
      join(root, 'node_modules', name, 'package.json'),
    )
    await prove(`one graphql, ${version}, is used beside Apollo Server`, async () => {
      await project.install([`graphql@${version}`, `${apollo}@${apolloVersion}`])
      const copies = project.listInstalled().filter((path) => /(?:^|\/)graphql$/.test(path))
      if (copies.join() !== 'graphql') throw new Error(`It is installed at ${copies.join(', ')}`)
      await project.run(process.execPath, program, version.split('.', 1))
    })
  }
}
