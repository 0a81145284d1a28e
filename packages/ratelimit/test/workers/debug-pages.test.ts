/**
 * @legs safety
 * @servers redis
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWorkers, startWorkers } from './support/workers.ts'

test('pages of a single process are handled by the requested worker or by the primary', async (t) => {
  const service = await startWorkers(t, 2)
  if (!service) return
  const read = async (path: string) => {
    const response = await fetch(`${service.debugUrl}${path}`)
    return { status: response.status, text: await response.text() }
  }
  const listing = await read('/')
  assert.match(listing.text, /^\/debug\/pprof\/profile: CPU profiling endpoint \(.*\?worker=N/m)
  assert.match(listing.text, /^\/workers: /m)
  const paths = [...listing.text.matchAll(/^([^:]+): /gm)].map(([, path]) => path)
  assert.deepEqual(paths, paths.toSorted())
  assert.match((await read('/debug/pprof/')).text, /\?worker=N/)

  const profile = async (query: string) => {
    const { status, text } = await read(`/debug/pprof/profile?seconds=0.2${query}`)
    assert.equal(status, 200)
    const urls: string[] = JSON.parse(text).nodes.map(
      (node: { callFrame: { url: string } }) => node.callFrame.url,
    )
    assert.ok(urls.length > 0)
  }
  // Concurrent profiles are possible, because each process has its own.
  await Promise.all([profile('&worker=1'), profile('&worker=2'), profile('&worker=primary')])
  await profile('')
  const unknown = await read('/debug/pprof/goroutine?worker=3')
  assert.deepEqual([unknown.status, unknown.text], [404, 'worker must be one of: primary, 1, 2\n'])
  assert.match((await read('/debug/pprof/goroutine?worker=primary')).text, /ProcessWrap|Process/)
  assert.equal((await read('/rlconfig')).status, 200)
  assert.equal((await read('/debug/pprof/trace?seconds=99999&worker=2')).status, 400)

  const workers = await readWorkers(service)
  assert.deepEqual(
    workers.map(({ number, state }) => [number, state]),
    [
      [1, 'serving'],
      [2, 'serving'],
    ],
  )
})
