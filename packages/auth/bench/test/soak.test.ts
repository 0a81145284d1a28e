import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { UsageError } from '@portcullis/bench-kit/options'
import { kindNames, kindOf, round } from '../soak/mix.ts'
import { type LoadPhase, openMixedLoad } from '../soak/mixed-load.ts'
import { parseSoakSettings } from '../soak/settings.ts'
import { type SoakSample, toVerdict } from '../soak/verdict.ts'

type Answer = (request: IncomingMessage, body: string) => readonly [status: number, body: object]

/** Responds like a token server. */
async function openStandIn(t: TestContext, answer: Answer) {
  const server = createServer(async (request, response) => {
    const [status, body] = answer(request, await text(request))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return { host: '127.0.0.1', port: address.port }
}

async function runPhases(t: TestContext, answer: Answer, phases: readonly LoadPhase[]) {
  const target = await openStandIn(t, answer)
  const members = ['a', 'b', 'c'].map((name) => ({
    email: `${name}@bench.example`,
    accessToken: `access-${name}`,
    refreshToken: `refresh-${name}`,
  }))
  const load = await openMixedLoad({ target, members, serviceToken: 'service' })
  t.after(() => load.close())
  const outcomes = []
  for (const phase of phases) outcomes.push(await load.run(phase))
  return outcomes
}

test('a round is a hundred requests with every kind in it', () => {
  assert.equal(round.length, 100)
  for (const name of kindNames) {
    assert.equal(round.filter((one) => one === name).length, kindOf(name).share, name)
  }
  // Requests of one kind do not follow each other.
  assert.ok(new Set(round.slice(0, 10)).size > 2)
})

test('a phase sends requests at the given rate, each session with its latest token', async (t) => {
  let children = 0
  const shown: string[] = []
  const paths = new Set<string>()
  const answer: Answer = ({ method, url = '' }, body) => {
    paths.add(`${method} ${url}`)
    if (!url.includes('refresh_token')) return [200, {}]
    shown.push(JSON.parse(body).refresh_token)
    return [200, { refresh_token: `child-${++children}` }]
  }
  const phase = { seconds: 0.5, perSecond: 200 }
  const [first, second] = await runPhases(t, answer, [phase, phase])
  assert.deepEqual([first?.calls, second?.calls], [100, 100])
  assert.deepEqual([first?.errors, first?.callsByKind.refresh], [0, 25])
  assert.deepEqual([...paths].toSorted(), [
    'GET /admin/users?per_page=50',
    'GET /user',
    'POST /otp',
    'POST /signup',
    'POST /token?grant_type=password',
    'POST /token?grant_type=refresh_token',
    'PUT /user',
  ])
  assert.equal(shown.length, 50)
  assert.equal(new Set(shown).size, 50)
})

test('without a rate as many requests are sent as are answered', async (t) => {
  let answered = 0
  const answer: Answer = () => {
    answered += 1
    return [200, { refresh_token: 'x' }]
  }
  const [outcome] = await runPhases(t, answer, [{ seconds: 0.3 }])
  assert.ok(answered > 0)
  assert.equal(outcome?.calls, answered)
  assert.equal(outcome?.errors, 0)
})

test('error responses are counted, and the first one is returned with its kind', async (t) => {
  const answer: Answer = ({ url = '' }) => [url === '/otp' ? 500 : 200, { refresh_token: 'x' }]
  const [outcome] = await runPhases(t, answer, [{ seconds: 0.5, perSecond: 200 }])
  assert.equal(outcome?.errors, kindOf('otp').share)
  assert.match(outcome?.firstError ?? '', /^otp: 500 /)
})

const sample: SoakSample = {
  calls: 10,
  errors: 0,
  firstError: undefined,
  p50Ms: 1,
  p99Ms: 2,
  quickP99Ms: 1,
  residentMegabytes: 100,
}

test('growing memory and failed requests make a run fail', () => {
  const flat = Array.from({ length: 20 }, () => sample)
  const long = { judgesMemory: true }
  const { isFine: isFlat, calls, growth } = toVerdict(flat, long)
  assert.deepEqual([isFlat, calls, growth], [true, 200, 0])
  const growing = flat.map((one, at) => ({ ...one, residentMegabytes: 100 + at * 2 }))
  assert.equal(toVerdict(growing, long).isFine, false)
  assert.equal(toVerdict(growing, { judgesMemory: false }).isFine, true)
  // Memory may grow at the start.
  const starting = flat.map((one, at) => ({ ...one, residentMegabytes: at < 4 ? 50 : 100 }))
  assert.equal(toVerdict(starting, long).isFine, true)
  const failing = flat.map((one, at) =>
    at === 7 ? { ...one, errors: 1, firstError: 'refresh: 500' } : one,
  )
  const { isFine, firstError } = toVerdict(failing, { judgesMemory: false })
  assert.deepEqual([isFine, firstError], [false, 'refresh: 500'])
})

test('invalid soak options are reported by name', () => {
  const wrong = {
    '--minutes 0': /--minutes must be a number above 0, not "0"/,
    '--share 1.5': /--share must be at most 1, not "1\.5"/,
    '--connections few': /--connections must be a whole number above 0, not "few"/,
    '--heap big': /--heap must be a whole number above 0, not "big"/,
    '--postgres oracle': /--postgres must be one of embedded, system, not "oracle"/,
    '--hours 1': /--hours/,
  }
  for (const [args, message] of Object.entries(wrong)) {
    assert.throws(
      () => parseSoakSettings(args.split(' ')),
      (error) => error instanceof UsageError && message.test(error.message),
      args,
    )
  }
  assert.equal(parseSoakSettings([]).isComplete, true)
  assert.equal(parseSoakSettings(['--minutes', '1']).isComplete, false)
})
