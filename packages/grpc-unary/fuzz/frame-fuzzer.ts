import { Router } from '../src/grpc/router.ts'
import { Connection } from '../src/http2/connection.ts'
import { PREFACE } from '../src/http2/frames.ts'
import { Hub } from '../src/http2/hub.ts'
import { inspect } from '../src/http2/watchdog.ts'
import { defaultLimits, type Limits } from '../src/limits.ts'
import { settings, unaryCall } from '../test/support/raw-client.ts'
import { checkCompliant } from './compliant-check.ts'
import { fail, withInput } from './failure.ts'
import { MemorySocket } from './memory-socket.ts'
import { createFuzzMethods } from './methods.ts'
import { mutate } from './mutate.ts'
import { checkOutput, type OutputSummary } from './output-check.ts'
import { Random } from './random.ts'
import { createSession, type Session } from './session.ts'

/** The number of inputs that share a pool of valid sessions. */
const INPUTS_PER_POOL = 1 << 16

const SESSIONS_PER_POOL = 256

/** The time limit for an input; normally each takes a fraction of it. */
const MAX_INPUT_MS = 100

/**
 * The maximum output: a fixed part for SETTINGS and other frames, and a maximum per byte of input.
 */
const MAX_OUTPUT = { fixed: 20_000, perByte: 64 }

/** Low limits, so that the inputs reach them. */
const tightLimits: Limits = {
  ...defaultLimits,
  concurrentStreams: 3,
  messageBytes: 1000,
  bufferedRequestBytes: 9000,
  headerListBytes: 500,
  headerBlockBytes: 300,
  continuationFrames: 1,
  heldBackBytes: 300,
  unsentBytes: 200,
  resetsPerSecond: 2,
  streamErrorsPerSecond: 2,
  settingsPerSecond: 3,
  pingsPerSecond: 2,
  emptyDataPerSecond: 2,
  prioritiesPerSecond: 2,
  windowUpdatesPerSecond: 2,
  strayFramesPerSecond: 2,
}

/** Later than every timeout. */
const FAR_MS = 10 * 365 * 86_400_000

interface Conversation {
  /** The positions at which the input is split into reads. */
  readonly cuts: readonly number[]
  /** Whether the client does not read at first. */
  readonly isStuck: boolean
  /** Whether time passes at the end, so that deadlines and the watchdog fire. */
  readonly endsLate: boolean
}

const inOneRead: Conversation = { cuts: [], isStuck: false, endsLate: false }

/** Feeds mutated sessions to connections without a network, and checks the invariants. */
export class FrameFuzzer {
  readonly #seed: number
  readonly #random: Random
  readonly #served = createFuzzMethods()
  readonly #hub: Hub
  readonly #tightHub: Hub
  #pool: readonly [Session, ...Session[]]
  #poolNumber = 0
  readonly #validCall = Buffer.concat([PREFACE, settings(), unaryCall(1, '/fuzz.Echo/Say', 'hi')])
  readonly #validAnswer: Buffer

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new Random(seed)
    const router = new Router(this.#served.methods, () => {})
    const age = { maxMs: Number.POSITIVE_INFINITY, graceMs: Number.POSITIVE_INFINITY }
    this.#hub = new Hub(defaultLimits, router, age)
    this.#tightHub = new Hub(tightLimits, router, age)
    this.#pool = this.#createPool(0)
    this.#validAnswer = this.#converse(this.#hub, this.#validCall, inOneRead)
  }

  /** Runs the input with this number; throws if an invariant is violated. */
  run(index: number): void {
    const pool = this.#poolFor(index)
    const random = this.#random
    random.restart(this.#seed, index)
    const isCompliant = random.oneIn(8)
    const session = isCompliant ? createSession(random) : random.pick(pool)
    const input = isCompliant ? Buffer.concat(session.frames) : mutate(session, random, pool)
    const hub = isCompliant || !random.oneIn(4) ? this.#hub : this.#tightHub
    const conversation: Conversation = {
      cuts: toCuts(input.length, random),
      isStuck: random.oneIn(16),
      endsLate: !isCompliant && random.oneIn(8),
    }
    withInput(
      `frames, seed ${this.#seed}, input ${index}`,
      () => input,
      () => {
        const summary = this.#inTime(() => this.#tryInput(hub, input, conversation))
        if (isCompliant) checkCompliant(summary, session)
        this.#checkServes(hub)
      },
    )
  }

  #tryInput(hub: Hub, input: Buffer, conversation: Conversation): OutputSummary {
    const output = this.#converse(hub, input, conversation)
    const summary = checkOutput(output)
    if (output.length > MAX_OUTPUT.fixed + MAX_OUTPUT.perByte * input.length) {
      fail(`${output.length} bytes of output for ${input.length} of input`)
    }
    const isComparable = !conversation.isStuck && !conversation.endsLate
    if (isComparable && conversation.cuts.length > 0) this.#compare(hub, input, output)
    return summary
  }

  /** The output must not depend on how the network splits the bytes. */
  #compare(hub: Hub, input: Buffer, output: Buffer): void {
    const whole = this.#converse(hub, input, inOneRead)
    if (!whole.equals(output)) {
      fail(
        `in one read:\n${whole.toString('hex')}\nin several:\n${output.toString('hex')}\nanswered`,
      )
    }
  }

  /** Runs one connection from its first byte to its last. */
  #converse(hub: Hub, input: Buffer, { cuts, isStuck, endsLate }: Conversation): Buffer {
    const { calls, answerLate } = this.#served
    calls.length = 0
    const socket = new MemorySocket()
    socket.isStuck = isStuck
    const connection = new Connection(hub, socket)
    hub.add(connection)
    let start = 0
    for (const cut of cuts) {
      connection.read(input.subarray(start, cut))
      start = cut
    }
    connection.read(input.subarray(start))
    answerLate()
    connection.flush()
    if (isStuck) {
      socket.unstick()
      connection.drained()
    }
    if (endsLate) {
      connection.expire(Date.now() + FAR_MS)
      connection.flush()
      inspect(connection, Date.now() + FAR_MS)
    }
    connection.lost()
    checkForgotten(connection, calls)
    return Buffer.concat(socket.written)
  }

  /**
   * Repeats an input that seems slow and measures its CPU time, since the machine may have been
   * busy.
   */
  #inTime(run: () => OutputSummary): OutputSummary {
    const beganMs = performance.now()
    const summary = run()
    if (performance.now() - beganMs < MAX_INPUT_MS) return summary
    const times = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage()
      run()
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    })
    const leastMs = Math.min(...times)
    if (leastMs >= MAX_INPUT_MS) fail(`takes ${Math.round(leastMs)} ms of CPU time`)
    return summary
  }

  /** Whatever one client has sent, the next client must be served. */
  #checkServes(hub: Hub): void {
    const answer = this.#converse(hub, this.#validCall, inOneRead)
    // The first frame of the server contains the limits, so only what follows is compared.
    if (!withoutSettings(answer).equals(withoutSettings(this.#validAnswer))) {
      fail(`the next client was answered ${answer.toString('hex')}`)
    }
  }

  #poolFor(index: number): readonly [Session, ...Session[]] {
    const number = Math.floor(index / INPUTS_PER_POOL)
    if (number !== this.#poolNumber) {
      this.#poolNumber = number
      this.#pool = this.#createPool(number)
    }
    return this.#pool
  }

  #createPool(number: number): readonly [Session, ...Session[]] {
    const random = new Random(~this.#seed, number)
    const more = Array.from({ length: SESSIONS_PER_POOL - 1 }, () => createSession(random))
    return [createSession(random), ...more]
  }
}

/** Splits at no position, at some positions, or into single bytes for a while. */
function toCuts(length: number, random: Random): number[] {
  const kind = random.below(8)
  if (kind < 3 || length < 2) return []
  if (kind < 5) return toRun(random.between(1, length - 1), 12, length)
  if (kind === 5 && length < 300) return toRun(1, length, length)
  const cuts = Array.from({ length: random.between(1, 6) }, () => random.between(1, length - 1))
  return [...new Set(cuts)].sort((a, b) => a - b)
}

function toRun(first: number, count: number, length: number): number[] {
  return Array.from({ length: Math.min(count, length - first) }, (_, index) => first + index)
}

/** Checks that a closed connection leaves nothing behind. */
function checkForgotten(
  connection: Connection,
  calls: readonly { readonly isOpen: boolean }[],
): void {
  const { streams, bufferedBytes, sendFlow, hub } = connection
  if (streams.count > 0) fail(`${streams.count} streams outlive their connection`)
  if (bufferedBytes !== 0) fail(`${bufferedBytes} request bytes are still counted`)
  if (hub.countedBytes !== 0) fail(`${hub.countedBytes} bytes are still counted`)
  if (sendFlow.stalledSinceMs !== Number.POSITIVE_INFINITY) fail('something is still held back')
  if (hub.connections.size > 0) fail('the connection is still in the list')
  if (calls.some((call) => call.isOpen)) fail('a call outlives its connection')
}

function withoutSettings(output: Buffer): Buffer {
  return output.subarray(9 + output.readUIntBE(0, 3))
}
