import type { JSX, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { User } from '../../../../console/routes/users-upstream.ts'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Notice } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatCountOf, formatNumber } from '../../../format.ts'
import { toUserName } from '../user-facts.tsx'
import type { BulkAction } from './bulk-actions.tsx'
import { type Progress, runAll } from './run-all.ts'

interface BulkDialogProps {
  readonly action: BulkAction
  readonly users: readonly User[]
  /** Called after a run, with the users on which the action failed or was not tried. */
  readonly onFinished: (remaining: readonly User[]) => void
  readonly onClose: () => void
}

/** Asks for confirmation, shows the progress, and lists failures. */
export function BulkDialog({ action, users, onFinished, onClose }: BulkDialogProps): JSX.Element {
  // The selection changes after a run, but the dialog is about the users with which it was opened.
  const [chosen] = useState(users)
  const [progress, setProgress] = useState<Progress<User>>()
  const [isRunning, setRunning] = useState(false)
  const stopping = useRef<AbortController>(undefined)
  useEffect(() => () => stopping.current?.abort(), [])
  const run = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const stop = new AbortController()
    stopping.current = stop
    setRunning(true)
    const result = await runAll(chosen, (user) => action.act(user, form), stop.signal, setProgress)
    setRunning(false)
    setProgress(result)
    const { done, failures, skipped } = result
    onFinished([...failures.map(({ item }) => item), ...skipped])
    if (failures.length > 0 || skipped.length > 0) return
    showSuccess(`${formatCountOf(done, 'user was', 'users were')} ${action.done}.`)
    onClose()
  }
  const title =
    isRunning || progress ? action.verb : action.question(formatCountOf(chosen.length, 'user'))
  return (
    <Dialog title={title} onClose={onClose}>
      {progress === undefined && !isRunning ? (
        <form class="stack" onSubmit={run}>
          <Names users={chosen} />
          {action.children}
          <footer>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="danger">
              {action.verb}
            </Button>
          </footer>
        </form>
      ) : (
        <>
          <Running progress={progress} total={chosen.length} done={action.done} />
          <footer>
            {isRunning ? (
              <Button onClick={() => stopping.current?.abort()}>Stop</Button>
            ) : (
              <Button kind="primary" onClick={onClose}>
                Close
              </Button>
            )}
          </footer>
        </>
      )}
    </Dialog>
  )
}

const mostNames = 5

function Names({ users }: { readonly users: readonly User[] }): JSX.Element {
  const more = users.length - mostNames
  return (
    <p class="user-names">
      {users.slice(0, mostNames).map(toUserName).join(', ')}
      {more > 0 && ` and ${formatNumber(more)} more`}
    </p>
  )
}

interface RunningProps {
  readonly progress: Progress<User> | undefined
  readonly total: number
  readonly done: string
}

function Running({ progress, total, done }: RunningProps): JSX.Element {
  const { done: succeeded = 0, failures = [], skipped = [] } = progress ?? {}
  const tried = progress ? succeeded + failures.length : 0
  return (
    <>
      <progress aria-label="Progress" max={total} value={tried} />
      <p role="status">
        {formatNumber(succeeded)} of {formatCountOf(total, 'user')} {done}.
        {failures.length > 0 && ` ${formatNumber(failures.length)} failed.`}
        {skipped.length > 0 && ` ${formatNumber(skipped.length)} not tried.`}
      </p>
      {failures.length > 0 && (
        <Notice tone="danger" title="Failed">
          <ul class="user-failures" aria-label="Failures">
            {failures.map(({ item, message }) => (
              <li key={item.id}>
                {toUserName(item)}: {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}
