import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { typeCheck } from '../graphql-over-http/type-check.ts'
import { createProject, type Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import { readJson, root } from '../published-packages.ts'

/** A program of a CommonJS project. The expected errors prove that the types are found and not `any`. */
const program = `
import { createRateLimiter, type LimitResult } from '@portcullis/limiter'
import { limitRequests } from '@portcullis/limiter/use/node'
import verify = require('@portcullis/auth/verify')
import ratelimit = require('@portcullis/ratelimit')

const limiter = createRateLimiter({ limits: { ip: '1/day' } })
export const result: LimitResult = limiter.limitSync({ ip: 'a' })
export const middleware = limitRequests({ limiter, keys: () => ({ ip: 'a' }) })
export const other = ratelimit.createRateLimiter({ limits: { user: '1/day' } })
export const verifier: verify.Verifier = verify.createVerifier({ secret: 'x'.repeat(32) })

// @ts-expect-error
limiter.limitSync({ address: 'a' })
// @ts-expect-error
other.limitSync({ ip: 'a' })
// @ts-expect-error
verify.createVerifier({ secret: 1 })
`

/** Compiles a CommonJS program that requires the libraries, and every library by itself. */
export async function proveCommonJsTypes(
  project: Project,
  specifiers: readonly string[],
  prove: Proofs['prove'],
): Promise<void> {
  const folder = join(project.folder, 'commonjs')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  writeFileSync(join(folder, 'program.ts'), program)
  const code = specifiers.map(
    (specifier, index) => `export import n${index} = require('${specifier}')\n`,
  )
  writeFileSync(join(folder, 'all.ts'), code.join(''))
  const compilers = {
    '5.9': () => installCompiler(project),
    7: async () => join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  }
  for (const [version, findCompiler] of Object.entries(compilers)) {
    await prove(`TypeScript ${version} compiles CommonJS that requires them (node16)`, async () => {
      await typeCheck(project, await findCompiler(), {
        title: 'node16',
        files: ['commonjs/program.ts', 'commonjs/all.ts'],
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: 'es2022',
          lib: ['es2024', 'esnext.disposable'],
          module: 'node16',
          skipLibCheck: false,
          types: ['node'],
          typeRoots: [join(root, 'node_modules', '@types')],
        },
      })
      return `${specifiers.length} modules`
    })
  }
}

/** The same older TypeScript that the GraphQL library is proved with. */
async function installCompiler({ folder }: Project): Promise<string> {
  const consumer = join(import.meta.dirname, '../graphql-over-http/consumer/package.json')
  const { dependencies } = readJson<{ dependencies: { typescript: string } }>(consumer)
  const compiler = createProject(`${folder}-typescript`)
  await compiler.install([`typescript@${dependencies.typescript}`])
  return join(compiler.folder, 'node_modules', 'typescript', 'bin', 'tsc')
}
