import type { JSX } from 'preact'
import type { Flow } from '../auth-client.ts'

const flows: readonly { readonly name: Flow; readonly title: string; readonly about: string }[] = [
  {
    name: 'implicit',
    title: 'Implicit',
    about: 'The link brings the tokens along, in the fragment of the address.',
  },
  {
    name: 'pkce',
    title: 'PKCE',
    about: 'The link brings a code, which only this browser can exchange for tokens.',
  },
]

export interface FlowChoiceProps {
  readonly flow: Flow
  readonly onChoose: (flow: Flow) => void
}

export function FlowChoice({ flow, onChoose }: FlowChoiceProps): JSX.Element {
  return (
    <fieldset class="try-flows">
      <legend>How links bring you back</legend>
      {flows.map(({ name, title, about }) => (
        <label key={name}>
          <input
            type="radio"
            name="flow"
            checked={flow === name}
            onChange={() => flow !== name && onChoose(name)}
          />
          <span>
            <strong>{title}</strong>
            <span class="try-flow-about muted small">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
