import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import { copyExamples, typeCheck } from '../graphql-over-http/type-check.ts'
import type { Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import { root } from '../published-packages.ts'
import type { Runtime } from '../runtimes.ts'
import { proveCommonJsTypes } from './commonjs-types.ts'

/** Imports everything that can be imported, and compiles programs that do so, including the READMEs' examples. */
export async function proveLibraries(
  project: Project,
  archives: readonly Archive[],
  prove: Proofs['prove'],
  runtimes: readonly Runtime[],
): Promise<void> {
  const specifiers = archives
    .flatMap(({ subpaths }) => subpaths)
    .map(({ specifier }) => specifier)
    // Tested with each version of graphql in separate projects.
    .filter((specifier) => !specifier.startsWith('@portcullis/graphql-over-http'))
  const code = specifiers.map((specifier) => `await import('${specifier}')\n`).join('')
  writeFileSync(join(project.folder, 'imports.mjs'), code)
  for (const { version, node } of runtimes) {
    await prove(`every library can be imported on Node ${version}`, async () => {
      await project.run(node, 'imports.mjs', [])
      return `${specifiers.length} modules`
    })
  }
  await prove('TypeScript 7 compiles the examples of their READMEs', () =>
    compileExamples(project, specifiers),
  )
  const libraries = specifiers.filter(
    (specifier) => !needsFramework.test(specifier) && !specifier.startsWith(program),
  )
  await proveCommonJsTypes(project, libraries, prove)
}

// A program whose parts only ES modules can import.
const program = '@portcullis/portcullis'

// Their types come from frameworks that are not installed here. Fastify was installed with the
// servers.
const needsFramework = /\/use\/(?:express|hono|koa)$/

async function compileExamples(project: Project, specifiers: readonly string[]): Promise<void> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const code = specifiers
    .filter((specifier) => !needsFramework.test(specifier))
    .map((specifier, index) => `export * as n${index} from '${specifier}'\n`)
  writeFileSync(join(project.folder, 'all.ts'), code.join(''))
  const examples = ['auth', 'grpc-unary', 'ratelimit'].flatMap((name) =>
    copyExamples(join(root, 'packages', name, 'README.md'), project, name),
  )
  await typeCheck(project, compiler, {
    title: 'nodenext',
    files: ['all.ts', ...examples],
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      module: 'nodenext',
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
    },
  })
}
