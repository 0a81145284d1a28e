import { evaluateGoals, type GoalResult, isMeasured } from '@portcullis/bench-kit/goals'
import { medianRatio } from '@portcullis/bench-kit/statistics'
import type { ContenderName } from './contenders.ts'
import type { Samples } from './measure.ts'
import type { HandlerSamples } from './measure-handlers.ts'
import type { QueryName } from './queries.ts'

/** Compares the measurements with the performance goals of the library. */
export function checkGoals(
  samples: Samples,
  handlerSamples: HandlerSamples,
): readonly GoalResult[] {
  const rates = (name: ContenderName, query: QueryName) =>
    samples.get(name)?.[query].map(({ perCpuSecond }) => perCpuSecond) ?? []
  const compare = (name: ContenderName, other: ContenderName, query: QueryName) =>
    medianRatio(rates(name, query), rates(other, query))
  const helloAlone = medianRatio(
    handlerSamples.get('portcullis')?.hello ?? [],
    handlerSamples.get('graphql-http')?.hello ?? [],
  )
  const bare = compare('bare-http', 'graphql-http', 'hello').toFixed(1)

  const rows: readonly (readonly [text: string, wanted: number, reached: number])[] = [
    ['hello, handler alone: 9 × graphql-http', 9, helloAlone],
    [
      'hello, on uWebSockets: 9 × graphql-http',
      9,
      compare('portcullis-uws', 'graphql-http', 'hello'),
    ],
    [
      `hello, on node http: 9 × graphql-http, where a constant response reaches ${bare} ×`,
      9,
      compare('portcullis-http', 'graphql-http', 'hello'),
    ],
    [
      'hello, on node http: not behind mercurius without JIT',
      1,
      compare('portcullis-http', 'mercurius', 'hello'),
    ],
    [
      'list, on node http: 1.6 × graphql-http',
      1.6,
      compare('portcullis-http', 'graphql-http', 'list'),
    ],
    ['hello, on node http: 0.9 of the limit', 0.9, compare('portcullis-http', 'limit', 'hello')],
    ['list, on node http: 0.9 of the limit', 0.9, compare('portcullis-http', 'limit', 'list')],
    [
      'hello, on node http: a list of rules costs a tenth at most',
      0.9,
      compare('portcullis-rules', 'portcullis-http', 'hello'),
    ],
    [
      'hello, both with graphql-jit: ahead of mercurius',
      1,
      compare('portcullis-jit', 'mercurius-jit', 'hello'),
    ],
    [
      'list, both with graphql-jit: ahead of mercurius',
      1,
      compare('portcullis-jit', 'mercurius-jit', 'list'),
    ],
  ]
  const goals = rows.map(([text, wanted, reached]) => ({ text, wanted, reached }))
  return evaluateGoals(goals).filter(isMeasured)
}
