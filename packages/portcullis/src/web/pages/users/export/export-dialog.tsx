import type { JSX, TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toMessage } from '../../../api.ts'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Notice } from '../../../components/states.tsx'
import { showSuccess } from '../../../components/toasts.tsx'
import { formatCountOf, formatNumber } from '../../../format.ts'
import { isFiltered, type Search } from '../search.ts'
import { exportUsers, saveFile } from './export-users.ts'
import { type ExportFormatName, exportFormats } from './formats.ts'

interface ExportDialogProps {
  readonly search: Search
  readonly total: number
  readonly onClose: () => void
}

const names = Object.keys(exportFormats) as readonly ExportFormatName[]

/** Writes all users of the current search into a file. */
export function ExportDialog({ search, total, onClose }: ExportDialogProps): JSX.Element {
  const [name, setName] = useState<ExportFormatName>('csv')
  const [count, setCount] = useState<number>()
  const [error, setError] = useState<unknown>()
  const leaving = useRef<AbortController>(undefined)
  useEffect(() => () => leaving.current?.abort(), [])
  const run = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const format = exportFormats[name]
    const controller = new AbortController()
    leaving.current = controller
    setError(undefined)
    setCount(0)
    try {
      let written = 0
      const content = await exportUsers(search, format, controller.signal, (users) => {
        written = users
        setCount(users)
      })
      const day = new Date().toISOString().slice(0, 10)
      saveFile(`users-${day}.${format.extension}`, content)
      showSuccess(`${formatCountOf(written, 'user was', 'users were')} exported.`)
      onClose()
    } catch (reason) {
      if (!controller.signal.aborted) setError(reason)
      setCount(undefined)
    }
  }
  const users = total === 1 ? 'the user' : `${formatNumber(total)} users`
  return (
    <Dialog title="Export users" onClose={onClose}>
      <form class="stack" onSubmit={run}>
        <p class="muted">
          {isFiltered(search)
            ? `Exports ${users} that match the current search and filters.`
            : `Exports ${users}.`}{' '}
          The file contains personal data.
        </p>
        <fieldset class="choices" disabled={count !== undefined}>
          <legend>Format</legend>
          {names.map((each) => (
            <label key={each} class="choice">
              <input
                type="radio"
                name="format"
                value={each}
                checked={each === name}
                onChange={() => setName(each)}
              />
              <span>
                {exportFormats[each].title}
                <span class="hint">{exportFormats[each].explanation}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {count !== undefined && (
          <>
            <progress aria-label="Progress" max={Math.max(total, count, 1)} value={count} />
            <p role="status">
              {formatNumber(count)} of {formatNumber(Math.max(total, count))} users
            </p>
          </>
        )}
        {error !== undefined && (
          <Notice tone="danger" title="The export failed.">
            {toMessage(error)}
          </Notice>
        )}
        <footer>
          {count === undefined ? (
            <Button onClick={onClose}>Close</Button>
          ) : (
            <Button onClick={() => leaving.current?.abort()}>Cancel export</Button>
          )}
          <Button type="submit" kind="primary" isDisabled={count !== undefined}>
            Export
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
