import {
  type Counted,
  type CounterStore,
  createEngine,
  type Descriptor,
  type DescriptorStatus,
  type Engine,
  type Increment,
  type MemoryStore,
  openMemoryStore,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../../engine.ts'
import type { Explanation, Place, RuleSet } from '../../rules/index.ts'
import { DescriptorAnswer, expectedFields, toCodeText } from './expected-fields.ts'
import type { Expected, PolicyTest, RequestStep } from './policy-test.ts'

export interface TestResult {
  readonly test: PolicyTest
  readonly requestCount: number
  /** Undefined if the test passed. */
  readonly failure: Failure | undefined
}

/** The step at which a test failed; the steps after it were not run. */
export interface Failure {
  readonly mismatches: readonly Mismatch[]
  readonly nowMs: number
  /** The number of the call within the step, from 1. */
  readonly call: number
  readonly times: number
  readonly request: RateLimitRequest
  readonly outcomes: readonly Outcome[]
}

/** The result for one descriptor, and the reason. */
export interface Outcome {
  readonly descriptor: Descriptor
  readonly status: DescriptorStatus
  readonly explanation: Explanation
}

export interface Mismatch {
  readonly field: string
  /** Undefined for the whole response. */
  readonly descriptor: number | undefined
  readonly expected: string
  readonly actual: string
  readonly place: Place
}

/** Runs tests one after the other, each with separate counters and its own clock. */
export class PolicyTestRunner implements AsyncDisposable {
  readonly #engine: Engine
  readonly #store: FreshStore
  #nowMs = 0

  constructor(rules: RuleSet) {
    const now = () => this.#nowMs
    this.#store = new FreshStore(now)
    this.#engine = createEngine({ rules, store: this.#store, now })
  }

  async run(test: PolicyTest): Promise<TestResult> {
    this.#nowMs = test.startMs
    await this.#store.renew()
    let requestCount = 0
    for (const step of test.steps) {
      if (step.kind === 'clock') {
        this.#nowMs = step.nowMs
        continue
      }
      const failure = this.#runStep(step)
      requestCount += failure?.call ?? step.times
      if (failure !== undefined) return { test, requestCount, failure }
    }
    return { test, requestCount, failure: undefined }
  }

  /** Codes are checked for every call, everything else only for the last one. */
  #runStep(step: RequestStep): Failure | undefined {
    const codes = step.wanted.filter(({ field }) => field === 'code')
    for (let call = 1; call <= step.times; call++) {
      const response = this.#decide(step.request)
      const wanted = call === step.times ? step.wanted : codes
      if (wanted.length === 0) continue
      const mismatches = this.#compare(wanted, step.request, response)
      if (mismatches.length > 0) {
        const { request, times } = step
        const outcomes = request.descriptors.map((_, index) => {
          const answer = this.#toAnswer(request, response, index)
          const { descriptor, status } = answer
          return { descriptor, status, explanation: answer.explain() }
        })
        return { mismatches, nowMs: this.#nowMs, call, times, request, outcomes }
      }
    }
    return undefined
  }

  #compare(
    wanted: readonly Expected[],
    request: RateLimitRequest,
    response: RateLimitResponse,
  ): Mismatch[] {
    const mismatches: Mismatch[] = []
    for (const { field, descriptor, text: expected, place } of wanted) {
      const actual = this.#toText(field, descriptor, request, response)
      if (actual !== expected) mismatches.push({ field, descriptor, expected, actual, place })
    }
    return mismatches
  }

  #toText(
    field: string,
    descriptor: number | undefined,
    request: RateLimitRequest,
    response: RateLimitResponse,
  ): string {
    const code =
      descriptor === undefined ? response.overallCode : response.statuses[descriptor]?.code
    if (field === 'code' && code !== undefined) return toCodeText(code)
    return expectedFields[field]?.toText(this.#toAnswer(request, response, descriptor ?? 0)) ?? ''
  }

  #toAnswer(
    { domain, descriptors }: RateLimitRequest,
    { statuses }: RateLimitResponse,
    index: number,
  ): DescriptorAnswer {
    const { rules } = this.#engine
    const descriptor = descriptors[index]
    const status = statuses[index]
    if (rules === undefined || descriptor === undefined || status === undefined) {
      throw new TypeError(`The answer has no status for descriptor ${index}`)
    }
    return new DescriptorAnswer(status, domain, descriptor, rules)
  }

  /** The store in memory answers synchronously. */
  #decide(request: RateLimitRequest): RateLimitResponse {
    let answer: RateLimitResponse | undefined
    let reason: Error | undefined
    this.#engine.decide(request, Number.POSITIVE_INFINITY, (error, response) => {
      reason = error
      answer = response
    })
    if (answer === undefined)
      throw reason ?? new TypeError('The store did not answer synchronously')
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}

/** A store that can be cleared, so that the rules need not be compiled for every test. */
class FreshStore implements CounterStore {
  readonly #now: () => number
  #store: MemoryStore

  constructor(now: () => number) {
    this.#now = now
    this.#store = openMemoryStore({ now })
  }

  async renew(): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
    this.#store = openMemoryStore({ now: this.#now })
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.add(increments, deadlineMs, counted)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.addSparing(increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#store.read(increments, deadlineMs, counted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
