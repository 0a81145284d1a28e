import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { areSingleKeysOn, listShortcuts, type Shortcut, setSingleKeysOn } from '../shortcuts.ts'
import { Keys } from './keys.tsx'

/** Lists the registered shortcuts, those of the page first. */
export function Help(): JSX.Element {
  const [shortcuts] = useState(listShortcuts)
  const [isOn, setOn] = useState(areSingleKeysOn)
  const change = (next: boolean) => {
    setSingleKeysOn(next)
    setOn(next)
  }
  const ofPage = shortcuts.filter(({ isGlobal }) => !isGlobal)
  // The sequences of keys are a long list, so they come last.
  const everywhere = shortcuts
    .filter(({ isGlobal }) => isGlobal)
    .sort((a, b) => Number(a.keys.includes(' ')) - Number(b.keys.includes(' ')))
  return (
    <>
      <div class="help-lists">
        {ofPage.length > 0 && <ShortcutList title="This page" shortcuts={ofPage} />}
        <ShortcutList title="Everywhere" shortcuts={everywhere} />
      </div>
      <label class="row tight">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => change(event.currentTarget.checked)}
        />
        Use single-key shortcuts
      </label>
      <p class="small muted">
        Single-key shortcuts do nothing while you type in a field. Turn them off if they interfere
        with speech input.
      </p>
      <form method="dialog">
        <footer>
          <Button type="submit">Close</Button>
        </footer>
      </form>
    </>
  )
}

interface ShortcutListProps {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
}

function ShortcutList({ title, shortcuts }: ShortcutListProps): JSX.Element {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, label }) => (
          <div key={`${keys} ${label}`}>
            <dt>{label}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
