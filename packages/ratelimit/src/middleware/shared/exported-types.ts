// Every adapter exports these besides its own options.

export type { HeaderStyle } from './header-styles.ts'
export type { LimitedAnswer, LimitedOutcome } from './limited-answer.ts'
export type {
  CommonOptions,
  Decider,
  DescribedOptions,
  Descriptors,
  KeyedOptions,
  MiddlewareOptions,
} from './options.ts'
