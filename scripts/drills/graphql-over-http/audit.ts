import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'

type Audits = typeof import('../../../packages/graphql-over-http/src/audits/index.ts')

export const audit: Drill = {
  kind: 'audit',
  package: 'graphql-over-http',
  file: 'src/audits/pigeons.ts',
  source: `
import type { AuditRow } from './audit.ts'
import { post } from './audit-request.ts'
import { status } from './expect.ts'
import { hello } from './operations.ts'

export const pigeons: AuditRow = {
  id: 'X999',
  name: 'MAY answer pigeons',
  request: post(hello),
  expect: [status(200)],
}
`,
  exported: 'pigeons',
  index: { file: 'src/audits/extended.ts', list: 'extended' },
  help: [],
  async prove(copy) {
    const { auditServer, renderAuditResultsToHTML } = await copy.load<Audits>('src/audits/index.ts')
    const results = await auditServer({
      url: 'http://localhost/graphql',
      extended: true,
      fetchFn: async () => new Response('{"data":{}}'),
    })
    assert.equal(results.find(({ id }) => id === 'X999')?.status, 'ok')
    assert.match(await renderAuditResultsToHTML(results), /MAY answer pigeons/)
  },
}
