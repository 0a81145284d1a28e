import type { Decider } from '../decide/decide.ts'
import type { Decided } from '../decide/decision.ts'
import { toRequestBytes } from '../decide/long-requests.ts'
import { decodeRequest } from '../protocol/decode.ts'
import {
  type Code,
  codeNames,
  type Descriptor,
  overrideUnitNames,
  type RateLimitRequest,
} from '../protocol/message.ts'

interface RecordedDecision {
  readonly timeMs: number
  /** Encoded requests are decoded only when they are listed. */
  readonly request: RateLimitRequest | Buffer
  readonly code: Code
  readonly bytes: number
}

/** However many decisions are kept, they take no more than about this much memory. */
const defaultMaxBytes = 64 << 20

/** The approximate size of a record without the texts of its request. */
const recordBytes = 120

/** The latest decisions. When it is full, the oldest ones are dropped. */
export class DecisionRecord {
  readonly #most: number
  readonly #maxBytes: number
  readonly #decisions: (RecordedDecision | undefined)[] = []
  #start = 0
  #count = 0
  #bytes = 0

  constructor(most: number, maxBytes = defaultMaxBytes) {
    this.#most = most
    this.#maxBytes = maxBytes
  }

  add(request: RateLimitRequest | Buffer, code: Code, timeMs: number): void {
    const bytes =
      recordBytes + (Buffer.isBuffer(request) ? request.length : toRequestBytes(request))
    if (bytes > this.#maxBytes) return
    while (this.#count >= this.#most || this.#bytes + bytes > this.#maxBytes) this.#dropOldest()
    this.#decisions[(this.#start + this.#count) % this.#most] = { timeMs, request, code, bytes }
    this.#count += 1
    this.#bytes += bytes
  }

  /**
   * Returns the decisions as JSON lines, oldest first, in the format that `ratelimit replay` reads. The generator
   * lists the decisions that existed when it started.
   */
  *lines(): Generator<string> {
    const decisions = Array.from(
      { length: this.#count },
      (_, index) => this.#decisions[(this.#start + index) % this.#most],
    )
    for (const decision of decisions) if (decision !== undefined) yield toLine(decision)
  }

  #dropOldest(): void {
    this.#bytes -= this.#decisions[this.#start]?.bytes ?? 0
    this.#decisions[this.#start] = undefined
    this.#start = (this.#start + 1) % this.#most
    this.#count -= 1
  }
}

/** Records every decision. Requests without a decision, for example because the store failed, are left out. */
export function recordDecider(
  { decide, decideEncoded }: Decider,
  record: DecisionRecord,
  now: () => number,
): Decider {
  const recording = (request: RateLimitRequest | Buffer, decided: Decided): Decided => {
    const timeMs = now()
    return (error, response) => {
      if (response !== undefined) record.add(request, response.overallCode, timeMs)
      decided(error, response)
    }
  }
  return {
    decide(request, deadlineMs, decided) {
      decide(request, deadlineMs, recording(request, decided))
    },
    decideEncoded(buffer, start, end, deadlineMs, decided) {
      // The transport reuses the buffer for other requests.
      const kept = Buffer.from(buffer.subarray(start, end))
      decideEncoded(buffer, start, end, deadlineMs, recording(kept, decided))
    },
  }
}

function toLine({ timeMs, request, code }: RecordedDecision): string {
  const { domain, descriptors, hitsAddend } = Buffer.isBuffer(request)
    ? decodeRequest(request, 0, request.length)
    : request
  return JSON.stringify({
    time: new Date(timeMs).toISOString(),
    domain,
    descriptors: descriptors.map(toJsonDescriptor),
    ...(hitsAddend !== 0 && { hitsAddend }),
    code: codeNames[code],
  })
}

/** The proto3 JSON form. */
function toJsonDescriptor({ entries, limit, hitsAddend, isNegativeHits }: Descriptor): object {
  return {
    entries: entries.map(({ key, value }) => ({ key, value })),
    ...(limit && {
      limit: {
        requestsPerUnit: limit.requestsPerUnit,
        unit: overrideUnitNames[limit.unit] ?? limit.unit,
      },
    }),
    ...(hitsAddend !== undefined && { hitsAddend }),
    ...(isNegativeHits && { isNegativeHits }),
  }
}
