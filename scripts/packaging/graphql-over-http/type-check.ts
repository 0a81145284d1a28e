import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from '../project.ts'

/** TypeScript settings of a consumer. */
export interface Settings {
  readonly title: string
  readonly files: readonly string[]
  readonly compilerOptions: object
}

// The published declarations are checked as well, so that consumers do not need skipLibCheck.
const strict = { strict: true, noEmit: true, target: 'es2022', skipLibCheck: false }
const nodenext = { ...strict, module: 'nodenext' }
const bundler = {
  ...strict,
  module: 'esnext',
  moduleResolution: 'bundler',
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
}
const types = { types: ['node'] }
const graphql16 = { paths: { graphql: ['./node_modules/graphql-16'] } }

const files = ['servers.ts', 'clients.ts']

// Other settings already check the same declarations. Those of the frameworks take most of the time.
const quick = { skipLibCheck: true }

const withNodeNext: Settings = {
  title: 'nodenext, graphql 17',
  files: [...files, 'require.cjs'],
  compilerOptions: { ...nodenext, ...types, allowJs: true, checkJs: true },
}
const withBundler = { ...bundler, ...types, ...graphql16 }

export const consumerSettings = {
  'TypeScript 5.9': [
    withNodeNext,
    { title: 'bundler, graphql 16', files, compilerOptions: { ...withBundler, ...quick } },
  ],
  'TypeScript 7': [
    withNodeNext,
    { title: 'bundler, graphql 16', files, compilerOptions: { ...withBundler, ...quick } },
  ],
} satisfies Record<string, readonly Settings[]>

const commonJs = { ...strict, ...types, esModuleInterop: true }
const withFrameworks = ['commonjs/servers.ts', 'commonjs/clients.ts']
const withoutFrameworks = ['commonjs/handlers.ts']

/**
 * Projects that compile to CommonJS. TypeScript 7 no longer has `node10`, and is fast enough to check
 * the frameworks once.
 */
export const commonJsSettings = {
  'TypeScript 5.9': [
    {
      title: 'node16, graphql 17',
      files: withoutFrameworks,
      compilerOptions: { ...commonJs, ...quick, module: 'node16' },
    },
    {
      title: 'node10, graphql 16',
      files: withoutFrameworks,
      compilerOptions: {
        ...commonJs,
        ...quick,
        ...graphql16,
        module: 'commonjs',
        moduleResolution: 'node10',
      },
    },
  ],
  'TypeScript 7': [
    {
      title: 'node16, graphql 16',
      files: withFrameworks,
      compilerOptions: { ...commonJs, ...graphql16, module: 'node16' },
    },
    {
      title: 'commonjs and bundler, graphql 17',
      files: withFrameworks,
      compilerOptions: { ...commonJs, ...quick, module: 'commonjs', moduleResolution: 'bundler' },
    },
  ],
} satisfies Record<string, readonly Settings[]>

/** A browser project has neither Node's types nor those of a framework. */
export const browserSettings: Settings = {
  title: 'bundler, graphql 17',
  files: ['clients.ts'],
  compilerOptions: { ...bundler, lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
}

/** Compiles files of a project; rejects with the errors of the compiler. */
export async function typeCheck(
  project: Project,
  compiler: string,
  { files, compilerOptions }: Settings,
): Promise<void> {
  // Checks run concurrently, so each has its own file.
  const config = join(project.folder, `tsconfig.${randomUUID()}.json`)
  writeFileSync(config, JSON.stringify({ compilerOptions, files }))
  await project.run(process.execPath, compiler, ['--project', config, '--pretty', 'false'])
}

/** Copies the TypeScript examples of a README into a project and returns the files' names. */
export function copyExamples(readme: string, project: Project, name = 'readme'): string[] {
  const blocks = readFileSync(readme, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, code = ''], index) => {
    const file = `${name}-${index + 1}.ts`
    writeFileSync(join(project.folder, file), code)
    return file
  })
}
