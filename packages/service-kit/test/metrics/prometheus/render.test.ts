import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Families } from '../../../src/metrics/prometheus/families.ts'
import { renderFamilies } from '../../../src/metrics/prometheus/render.ts'
import { collectLog } from '../../support/collected-log.ts'

async function render(families: Families): Promise<string> {
  const chunks: string[] = []
  for await (const chunk of renderFamilies(families)) chunks.push(chunk)
  return chunks.join('')
}

test('families are sorted by name, and one without series is left out', async () => {
  const families = new Families([['env', 'live']], collectLog().log)
  families
    .table('gauge', { name: 'size', help: 'A \\ and\na line end', unit: 'By' })
    ?.row('')
    .show()
  const rules = families.addTable('counter', [
    { name: 'hits', help: 'All hits' },
    { name: 'hits_over', help: 'Hits over the limit' },
  ])
  rules
    .row(families.toLabelText([['key', 'a']]))
    .show()
    .add(1, 3)
  rules.row('{hidden="1"}')
  families.table('counter', { name: 'empty', help: 'Nothing' })
  const time = { name: 'time', help: 'Durations' }
  families.histogram(time, families.toLabelText([]), [0.1, 1])?.observe(0.5)
  families.histogram(time, '', [1])?.observe(2)
  assert.equal(
    await render(families),
    `# HELP hits All hits
# TYPE hits counter
hits{env="live",key="a"} 0
# HELP hits_over Hits over the limit
# TYPE hits_over counter
hits_over{env="live",key="a"} 3
# HELP size A \\\\ and\\na line end
# UNIT size By
# TYPE size gauge
size 0
# HELP time Durations
# TYPE time histogram
time_bucket{env="live",le="0.1"} 0
time_bucket{env="live",le="1"} 1
time_bucket{env="live",le="+Inf"} 1
time_sum{env="live"} 0.5
time_count{env="live"} 1
time_bucket{le="1"} 0
time_bucket{le="+Inf"} 1
time_sum 2
time_count 1
`,
  )
})

test('without metrics the page is empty', async () => {
  assert.equal(await render(new Families([], collectLog().log)), '')
})

test('a large page comes in chunks, between which the event loop runs', async () => {
  const families = new Families([], collectLog().log)
  const table = families.table('counter', { name: 'hits', help: 'All hits' })
  for (let i = 0; i < 20_000; i += 1) table?.row(`{key="${i}"}`).show()
  let turns = 0
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  let chunks = 0
  for await (const chunk of renderFamilies(families)) {
    chunks += 1
    assert.ok(chunk.length < 40_000, `a chunk of ${chunk.length} characters`)
  }
  clearImmediate(next)
  assert.ok(chunks > 5 && turns > 2, `${chunks} chunks, ${turns} turns`)
})
