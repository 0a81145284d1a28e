import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from '../src/client.ts'
import { recordSink, respond } from './support/client-server.ts'

const run = promisify(execFile)
const clientUrl = new URL('../src/client.ts', import.meta.url).href

for (const [mistake, options, message] of [
  ['no options', undefined, /`url` must be a string, or a function/],
  ['no url', {}, /`url` must be a string, or a function/],
  ['an empty url', { url: '' }, /`url` must be a string, or a function/],
  ['a URL object as url', { url: new URL('http://test') }, /`url` must be a string, or a function/],
  [
    'a misspelt option',
    { url: 'http://test', header: {} },
    /unknown option "header".*mean "headers"\?/,
  ],
  ['text as headers', { url: 'http://test', headers: 'x: y' }, /`headers` must be an object, or/],
  ['shouldRetry: true', { url: 'http://test', shouldRetry: true }, /`shouldRetry` must be a func/],
  [
    'a fetchFn that is not a function',
    { url: 'http://test', fetchFn: {} },
    /`fetchFn` must be a function/,
  ],
  [
    'a controller instead of its class',
    { url: 'http://test', abortControllerImpl: new AbortController() },
    /`abortControllerImpl` must be a class/,
  ],
] as const) {
  test(`createClient with ${mistake} throws a TypeError that names the option`, () => {
    assert.throws(() => Reflect.apply(createClient, undefined, [options]), {
      name: 'TypeError',
      message,
    })
  })
}

for (const [missing, message] of [
  ['fetch', /`fetchFn` must be a function where there is no global fetch/],
  [
    'AbortController',
    /`abortControllerImpl` must be a class where there is no global AbortController/,
  ],
] as const) {
  test(`in a runtime without ${missing} the option to pass is named`, (t) => {
    const original = Reflect.getOwnPropertyDescriptor(globalThis, missing)
    assert.ok(original)
    Reflect.deleteProperty(globalThis, missing)
    t.after(() => Reflect.defineProperty(globalThis, missing, original))
    assert.throws(() => createClient({ url: 'http://test' }), { name: 'TypeError', message })
  })
}

for (const [mistake, args, message] of [
  ['nothing', [], /`query`/],
  ['a request without query', [{ variables: {} }, recordSink()], /`query`/],
  ['the query itself', ['{ hello }', recordSink()], /`query`/],
  ['no sink', [{ query: '{ hello }' }], /`next`, `error` and `complete`/],
  ['half a sink', [{ query: '{ hello }' }, { next() {} }], /`next`, `error` and `complete`/],
] as const) {
  test(`subscribe with ${mistake} throws a TypeError and sends nothing`, () => {
    let sent = 0
    const { subscribe } = createClient({
      url: 'http://test',
      fetchFn: async () => {
        sent++
        return respond('{}')
      },
    })
    assert.throws(() => Reflect.apply(subscribe, undefined, args), { name: 'TypeError', message })
    assert.equal(sent, 0)
  })
}

for (const [option, message] of [
  ['url', /`url` must be a string, or a function that returns one/],
  ['headers', /`headers` must be an object, or a function that returns one/],
] as const) {
  test(`a ${option} function that returns the wrong thing is reported with its name`, async () => {
    const client = createClient({
      url: 'http://test',
      fetchFn: async () => respond('{}'),
      [option]: () => 7,
    })
    await assert.rejects(client.execute({ query: '{ a }' }), { name: 'TypeError', message })
  })
}

test('the client loads and works where graphql is not installed', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(specifier, context, next) {
        if (/^graphql(\\/|$)/.test(specifier)) throw new Error('graphql is not installed')
        return next(specifier, context)
      },
    })
    const graphql = await import('graphql').catch((error) => error.message)
    const { createClient, NetworkError } = await import(${JSON.stringify(clientUrl)})
    const fetchFn = async () => Response.json({ data: { hello: 'world' } })
    const { data } = await createClient({ url: 'http://test', fetchFn }).execute({ query: '{ hello }' })
    console.log(JSON.stringify({ graphql, data, error: new NetworkError('x').name }))
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script])
  assert.deepEqual(JSON.parse(stdout), {
    graphql: 'graphql is not installed',
    data: { hello: 'world' },
    error: 'NetworkError',
  })
})
