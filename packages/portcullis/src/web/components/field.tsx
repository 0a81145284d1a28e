import { cloneElement, type HTMLAttributes, type JSX, type VNode } from 'preact'
import { useId } from 'preact/hooks'

export interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  /** Why the value is invalid. */
  readonly fault?: string | undefined
  /** One input, select or textarea, which gets its id and description. */
  readonly children: VNode<HTMLAttributes>
}

export function Field({ label, hint, fault, children }: FieldProps): JSX.Element {
  const id = useId()
  const about = fault ?? hint
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(about !== undefined && { 'aria-describedby': `${id}-about` }),
        ...(fault !== undefined && { 'aria-invalid': true }),
      })}
      {about !== undefined && (
        <span id={`${id}-about`} class={fault === undefined ? 'hint' : 'fault'}>
          {about}
        </span>
      )}
    </div>
  )
}
