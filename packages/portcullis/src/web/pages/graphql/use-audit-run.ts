import { useCallback, useEffect, useState } from 'preact/hooks'
import type { AuditRunList } from '../../../console/routes/audits.ts'
import type { AuditSettings } from '../../../console/routes/audits-plan.ts'
import type {
  AuditLevel,
  AuditProgress,
  AuditRunSummary,
  AuditRunView,
} from '../../../console/routes/audits-run.ts'
import { callApi, toMessage } from '../../api.ts'
import { showFailure } from '../../components/toasts.tsx'
import { useEventStream } from '../../use-event-stream.ts'
import { useLoaded } from '../../use-loaded.ts'

export interface AuditRunControl {
  /** The displayed run, if any. */
  readonly run: AuditRunView | undefined
  readonly isLoading: boolean
  readonly loadError: unknown
  /** All stored runs, newest first. */
  readonly earlier: readonly AuditRunSummary[]
  /** The URL of the API that exempts audits from its rate limits. */
  readonly uncountedUrl: string | undefined
  readonly start: (settings: AuditSettings) => Promise<void>
  readonly stop: () => Promise<void>
  readonly show: (id: string) => Promise<void>
  readonly reload: () => void
}

/** Decides which run to show after one was loaded. */
type Choose = (found: AuditRunView, shown: AuditRunView | undefined) => AuditRunView | undefined

/** Starts, follows and stops a run. A run survives a reload of the page. */
export function useAuditRun(): AuditRunControl {
  const [run, setRun] = useState<AuditRunView>()
  const list = useLoaded((signal) => callApi<AuditRunList>('/api/audits', { signal }), [])
  const newest = list.state === 'ready' ? list.value.runs[0]?.id : undefined

  const load = useCallback(async (id: string, choose: Choose) => {
    try {
      const found = await callApi<AuditRunView>(`/api/audits/${id}`)
      setRun((shown) => choose(found, shown))
    } catch (error) {
      showFailure(error)
    }
  }, [])
  useEffect(() => {
    // A run that was started while the newest one was loading takes precedence.
    if (newest !== undefined && run === undefined)
      void load(newest, (found, shown) => shown ?? found)
  }, [newest])

  const giveUp = async (id: string) => {
    const found = await callApi<AuditRunView>(`/api/audits/${id}`).catch(toMessage)
    setRun((shown) => {
      if (shown?.id !== id) return shown
      return typeof found === 'string' ? { ...shown, state: 'failed', message: found } : found
    })
    list.reload()
  }

  const isRunning = run?.state === 'running'
  useEventStream(
    isRunning ? `/api/audits/${run.id}/events` : undefined,
    {
      progress: (progress: AuditProgress) => {
        setRun((shown) => shown && { ...shown, ...progress })
        if (!run || progress.state === 'running') return
        // The full view contains the requests and responses of failed audits.
        void load(run.id, (found, shown) => (shown?.id === found.id ? found : shown))
        list.reload()
      },
    },
    // If the console was restarted in the meantime, it no longer knows the run.
    () => {
      if (run) void giveUp(run.id)
    },
  )

  return {
    run,
    isLoading: list.state === 'loading' || (newest !== undefined && run === undefined),
    loadError: list.state === 'failed' ? list.error : undefined,
    earlier: list.state === 'ready' ? list.value.runs : [],
    uncountedUrl: list.state === 'ready' ? list.value.uncountedUrl : undefined,
    async start(settings) {
      setRun(await callApi<AuditRunView>('/api/audits', { method: 'POST', body: settings }))
      list.reload()
    },
    async stop() {
      if (!run) return
      try {
        await callApi(`/api/audits/${run.id}`, { method: 'DELETE' })
      } catch (error) {
        showFailure(error)
      }
    },
    show: (id) => load(id, (found) => found),
    reload: list.reload,
  }
}

export interface Level {
  readonly name: AuditLevel
  readonly title: string
  readonly intro: string
  /** The colour of failed audits. */
  readonly tone: 'danger' | 'warn' | 'accent'
}

/** Most important first. */
export const levels: readonly Level[] = [
  {
    name: 'MUST',
    title: 'Required',
    intro: 'Clients rely on these. A server that fails one does not comply.',
    tone: 'danger',
  },
  {
    name: 'SHOULD',
    title: 'Recommended',
    intro: 'A server may deviate from these only for a good reason.',
    tone: 'warn',
  },
  {
    name: 'MAY',
    title: 'Optional',
    intro: 'Conventions that make a server easier to work with.',
    tone: 'accent',
  },
]

interface LevelCounts {
  readonly total: number
  readonly passed: number
  readonly failed: number
}

/** Counts the finished audits of a level. */
export function countLevel({ audits, outcomes }: AuditRunView, level: AuditLevel): LevelCounts {
  const ofLevel = audits.filter((audit) => audit.level === level)
  const passed = ofLevel.filter(({ id }) => outcomes[id]?.status === 'ok').length
  const ended = ofLevel.filter(({ id }) => outcomes[id] !== undefined).length
  return { total: ofLevel.length, passed, failed: ended - passed }
}
