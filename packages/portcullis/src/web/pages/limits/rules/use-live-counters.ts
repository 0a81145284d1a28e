import { useState } from 'preact/hooks'
import type { CounterNews, CounterTrouble } from '../../../../console/routes/limits.ts'
import { useEventStream } from '../../../use-event-stream.ts'

export interface LiveNews {
  readonly news: CounterNews | undefined
  /** Why there is nothing new. */
  readonly trouble: string | undefined
  readonly isLive: boolean
}

/** The counters, as long as the page is shown. */
export function useLiveCounters(): LiveNews {
  const [news, setNews] = useState<CounterNews>()
  const [trouble, setTrouble] = useState<string>()
  const isConnected = useEventStream('/api/limits/counters', {
    counters: (latest: CounterNews) => {
      setNews(latest)
      setTrouble(undefined)
    },
    trouble: ({ message }: CounterTrouble) => setTrouble(message),
  })
  return { news, trouble, isLive: isConnected && news !== undefined && trouble === undefined }
}
