import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Project } from '../project.ts'

/** Settings of TypeScript that a consumer may have. */
export interface Settings {
  readonly title: string
  readonly files: readonly string[]
  readonly compilerOptions: object
}

// What we ship is checked as well: nobody should need skipLibCheck because of us.
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

export const consumerSettings: readonly Settings[] = [
  {
    title: 'nodenext, graphql 17',
    files: [...files, 'require.cjs'],
    compilerOptions: { ...nodenext, ...types, allowJs: true, checkJs: true },
  },
  { title: 'bundler, graphql 16', files, compilerOptions: { ...bundler, ...types, ...graphql16 } },
]

/** A browser has neither Node's types nor those of any framework. */
export const browserSettings: Settings = {
  title: 'bundler, graphql 17',
  files: ['clients.ts'],
  compilerOptions: { ...bundler, lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
}

/** Compiles files of a project; rejects with what the compiler found. */
export async function typeCheck(
  project: Project,
  compiler: string,
  { files, compilerOptions }: Settings,
): Promise<void> {
  const config = join(project.folder, 'tsconfig.json')
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
