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
import { hangMs, hasValidReset, openSteadyLoad } from './steady-load.ts'

/** A fault in the environment of the service, and how it is undone. */
export interface Fault {
  /** The name in the manual. */
  readonly name: string
  /** What clients may see during the fault. */
  readonly expected: 'all answered' | 'some fail' | 'all fail'
  /** Resolves to undefined if a required server is missing. */
  open(t: TestContext): Promise<OpenFault | undefined>
}

export interface OpenFault {
  readonly env: Readonly<Record<string, string>>
  /** Replaces the default start of the service with that environment. */
  readonly start?: (t: TestContext) => Promise<RunningService>
  /** Resolves when the fault is present, or has occurred often enough. */
  break(service: RunningService): Promise<void>
  /** Resolves when the fault is removed. */
  heal(service: RunningService): Promise<void>
}

export interface FaultResult {
  readonly name: string
  readonly calls: number
  readonly failed: number
  readonly slowestMs: number
  /** The time from the end of the fault to the first response. */
  readonly backMs: number
  readonly grownMegabytes: number
}

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 4294967295 } }
`
/** The figures in the manual are measured with the documented deadline, on an idle machine. */
export const isMeasuring = process.env['UPDATE_DOCS'] !== undefined
/** The deadline of calls during the fault. */
const shortMs = 100
/** The deadline of calls that must be answered, even on a busy machine. */
const patientMs = isMeasuring ? shortMs : hangMs
const lastsMs = 1_500
/** After this many consecutive successful calls, every counter and every connection has been used. */
const calmCount = 100
const mostGrownMegabytes = 100

/** Causes a fault under steady load, removes it, and returns what clients saw. */
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
  // Lost connections are replaced one after the other.
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
    'calls failed after the recovery',
  )
  return {
    name: fault.name,
    calls: during.length,
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

/** Waits until clients see the expected effect of the fault. */
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
    () => 'a call was answered during the fault',
    hangMs,
  )
}

/** Only calls that started after the fault count, because earlier ones may still be affected. */
async function untilCalm(calls: readonly LoadedCall[], healedAt: number): Promise<void> {
  await until(
    () => {
      const last = calls.filter(({ startedMs }) => startedMs >= healedAt).slice(-calmCount)
      return last.length === calmCount && last.every(isOk)
    },
    () => `${calmCount} consecutive calls were answered after the fault`,
    hangMs,
  )
}

function assertFailuresAreFine(calls: readonly LoadedCall[]): void {
  for (const call of calls) {
    assert.ok(call.tookMs < hangMs, `a call took ${Math.round(call.tookMs)} ms`)
    assert.ok(hasValidReset(call), 'a window was reported to end now or earlier')
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
  // Calls that were in progress when the fault began may still have been answered.
  if (expected === 'some fail') assert.ok(failed < during.length, 'everything failed')
}
