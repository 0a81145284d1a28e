import { makeBundle } from '../bundle.ts'

// Entries that must work without Node, and the only module that each may import from outside. A
// client in a browser has no graphql, so neither the client nor the audits may import it, also not
// through the root.
const name = '@portcullis/graphql-over-http'
const allowed = [
  { code: `export * from '${name}/client'`, imports: '' },
  { code: `export { createClient } from '${name}'`, imports: '' },
  { code: `export * from '${name}/audits'`, imports: '' },
  { code: `export { serverAudits } from '${name}'`, imports: '' },
  { code: `export * from '${name}'`, imports: 'graphql' },
  { code: `export * from '${name}/use/fetch'`, imports: 'graphql' },
  { code: `export * from '${name}/mask-errors'`, imports: 'graphql' },
  { code: `export * from '${name}/use/hono'`, imports: 'graphql' },
]

export async function checkImports(folder: string): Promise<string> {
  for (const { code, imports } of allowed) {
    const bundle = await makeBundle(folder, code)
    const found = [...new Set(bundle.imports)].join(', ')
    if (found !== imports) {
      throw new Error(`${code} imports ${found || 'nothing'} instead of ${imports || 'nothing'}`)
    }
  }
  return 'no Node modules, and no graphql in client and audits'
}
