import assert from 'node:assert/strict'
import process from 'node:process'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { status } from '@portcullis/grpc-unary'
import type { LoadedCall } from '../support/service-load.ts'
import {
  type RunningService,
  readMegabytes,
  startService,
  until,
} from '../support/service-process.ts'
import { hangMs, hasSoundReset, openSteadyLoad } from './steady-load.ts'

/** Something that goes wrong around the service, and how it is undone. */
export interface Fault {
  /** As the manual names it. */
  readonly name: string
  /** What callers may see while it lasts. */
  readonly expected: 'all answered' | 'some fail' | 'all fail'
  /** Undefined where a server that it needs is missing. */
  open(t: TestContext): Promise<OpenFault | undefined>
}

export interface OpenFault {
  readonly env: Readonly<Record<string, string>>
  /** Where the service is not simply started with that environment. */
  readonly start?: (t: TestContext) => Promise<RunningService>
  /** Resolves when it is broken, or when what goes wrong has gone wrong often enough. */
  break(service: RunningService): Promise<void>
  /** Resolves when what was broken could be used again. */
  heal(service: RunningService): Promise<void>
}

export interface FaultResult {
  readonly name: string
  readonly asked: number
  readonly failed: number
  readonly slowestMs: number
  /** From the end of the fault to the first answer. */
  readonly backMs: number
  readonly grownMegabytes: number
}

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 4294967295 } }
`
/** The manual's figures are measured with the deadline that it names, on a quiet machine. */
export const isMeasuring = process.env['UPDATE_DOCS'] !== undefined
/** Of calls that wait in vain for what is broken. */
const shortMs = 100
/** Of calls that have to be answered, on a busy machine too. */
const patientMs = isMeasuring ? shortMs : hangMs
const lastsMs = 1_500
/** So many successful calls in a row have asked for every counter, over every connection. */
const calmCount = 100
const mostGrownMegabytes = 100

/** Breaks something under a steady load, heals it, and says what callers saw. */
export async function runFault(t: TestContext, fault: Fault): Promise<FaultResult | undefined> {
  const opened = await fault.open(t)
  if (opened === undefined) return undefined
  const service = await (opened.start?.(t) ?? startService(t, { rules, env: opened.env }))
  let deadlineMs = patientMs
  const load = openSteadyLoad({
    grpcAddress: service.grpcAddress,
    connections: 8,
    callsPerSecond: 400,
    deadlineMs: () => deadlineMs,
  })
  t.after(() => load.stop())
  await untilAnswered(load.calls, performance.now(), 'at the start')
  await wait(500)
  const before = await readMegabytes(service)

  const brokenAt = performance.now()
  if (fault.expected !== 'all answered') deadlineMs = shortMs
  await opened.break(service)
  await wait(lastsMs)
  await untilSeen(fault, () => load.calls.filter(({ startedMs }) => startedMs >= brokenAt))
  deadlineMs = patientMs
  await opened.heal(service)
  const healedAt = performance.now()
  const backAt = await untilAnswered(load.calls, healedAt, 'after it')
  // Connections that were lost are back one after the other.
  await untilCalm(load.calls, healedAt)
  const calmAt = performance.now()
  await until(
    () => load.calls.filter(({ startedMs }) => startedMs >= calmAt).length >= calmCount,
    () => `${calmCount} more calls ended`,
    hangMs,
  )
  const grownMegabytes = (await readMegabytes(service)) - before
  await load.stop()

  assert.equal(load.waiting, 0, 'a call was never answered')
  assert.equal(service.hasEnded, false)
  assert.ok(grownMegabytes < mostGrownMegabytes, `it grew by ${grownMegabytes} MB`)
  const during = load.calls.filter(({ startedMs }) => startedMs >= brokenAt && startedMs < healedAt)
  assertFailuresAreFine(load.calls)
  assertExpected(fault, during, load.calls)
  assert.deepEqual(
    load.calls.filter((call) => call.startedMs >= calmAt && !isOk(call)),
    [],
    'calls failed when all was well again',
  )
  return {
    name: fault.name,
    asked: during.length,
    failed: during.filter((call) => !isOk(call)).length,
    slowestMs: Math.max(...during.map(({ tookMs }) => tookMs)),
    backMs: backAt - healedAt,
    grownMegabytes,
  }
}

const isOk = ({ code }: LoadedCall) => code === status.OK

async function untilAnswered(
  calls: readonly LoadedCall[],
  fromMs: number,
  when: string,
): Promise<number> {
  const find = () => calls.find((call) => isOk(call) && call.startedMs >= fromMs)
  await until(
    () => find() !== undefined,
    () => `a call was answered ${when}`,
    hangMs,
  )
  const { startedMs = 0, tookMs = 0 } = find() ?? {}
  return startedMs + tookMs
}

/** Callers see what the fault is expected to cause. */
async function untilSeen({ expected }: Fault, during: () => readonly LoadedCall[]): Promise<void> {
  if (expected === 'all answered') return
  await until(
    () => during().some((call) => !isOk(call)),
    () => 'a call failed; was anything broken?',
    hangMs,
  )
  if (expected === 'all fail') return
  await until(
    () => during().some(isOk),
    () => 'a call was answered while it lasted',
    hangMs,
  )
}

/** Only calls that began after the fault count: earlier ones may still wait for what was broken. */
async function untilCalm(calls: readonly LoadedCall[], healedAt: number): Promise<void> {
  await until(
    () => {
      const last = calls.filter(({ startedMs }) => startedMs >= healedAt).slice(-calmCount)
      return last.length === calmCount && last.every(isOk)
    },
    () => `${calmCount} calls in a row were answered after it`,
    hangMs,
  )
}

function assertFailuresAreFine(calls: readonly LoadedCall[]): void {
  for (const call of calls) {
    assert.ok(call.tookMs < hangMs, `a call took ${Math.round(call.tookMs)} ms`)
    assert.ok(hasSoundReset(call), 'a limit was said to end now or earlier')
    assert.ok(isOk(call) || call.message.length > 5, `code ${call.code} without a reason`)
  }
}

function assertExpected(
  { expected }: Fault,
  during: readonly LoadedCall[],
  all: readonly LoadedCall[],
): void {
  const failed = during.filter((call) => !isOk(call)).length
  if (expected === 'all answered') {
    assert.deepEqual(
      all.filter((call) => !isOk(call)).map(({ code, message }) => `${code}: ${message}`),
      [],
    )
  } else {
    assert.ok(failed > 0, 'nothing failed: was anything broken?')
  }
  // Those that were under way when it broke may still have been answered.
  if (expected === 'some fail') assert.ok(failed < during.length, 'everything failed')
}
