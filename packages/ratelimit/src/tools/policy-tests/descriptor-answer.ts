import type { Descriptor, DescriptorStatus } from '../../protocol/message.ts'
import type { Explanation } from '../../rules/match/explain.ts'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { Match } from '../../rules/model/rule.ts'

/** What came of one descriptor. Rules are asked only by who wants to know: that takes time. */
export class DescriptorAnswer {
  readonly status: DescriptorStatus
  readonly descriptor: Descriptor
  readonly #domain: string
  readonly #rules: RuleSnapshot

  constructor(
    status: DescriptorStatus,
    domain: string,
    descriptor: Descriptor,
    rules: RuleSnapshot,
  ) {
    this.status = status
    this.descriptor = descriptor
    this.#domain = domain
    this.#rules = rules
  }

  get match(): Match | undefined {
    if (!this.#rules.hasDomain(this.#domain)) return undefined
    return this.#rules.match(this.#domain, this.descriptor)
  }

  /** The same and more, for people; in a large set of rules it takes milliseconds. */
  explain(): Explanation {
    return this.#rules.explain(this.#domain, this.descriptor)
  }
}
