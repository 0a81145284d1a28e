import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import type { Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'

/** Jest in CommonJS mode resolves the condition `require` and does not load ES modules. */
export async function proveJest(
  archive: Archive,
  { prove }: Proofs,
  consumer: Project,
): Promise<void> {
  const specifiers = archive.subpaths.map(({ specifier }) => specifier)
  const toProject = (
    graphqlMajor: string,
    moduleNameMapper: { readonly [name: string]: string },
  ) => ({
    displayName: `graphql ${graphqlMajor}`,
    testEnvironment: 'node',
    transform: {},
    moduleNameMapper,
    testMatch: ['<rootDir>/commonjs/*.spec.js'],
    globals: { graphqlMajor, specifiers },
  })
  const config = join(consumer.folder, 'jest.config.json')
  const projects = [toProject('16', { '^graphql$': 'graphql-16' }), toProject('17', {})]
  writeFileSync(config, JSON.stringify({ projects }))
  await prove('Jest requires it in CommonJS mode, with graphql 16 and 17', async () => {
    const jest = join('node_modules', 'jest', 'bin', 'jest.js')
    const flags = ['--config', config, '--runInBand', '--watchman=false']
    await consumer.run(process.execPath, jest, flags)
    return `${specifiers.length} modules`
  })
}
