/** The first steps that Overview suggests, by the page where each is done. */
export type FirstStep = '/users' | '/try' | '/limits'

const storageKey = 'portcullis-steps-done'

export function readDoneSteps(): readonly string[] {
  return (localStorage.getItem(storageKey) ?? '').split(' ')
}

/** From now on Overview does not suggest it any more. */
export function noteStepDone(step: FirstStep): void {
  const done = readDoneSteps()
  if (!done.includes(step)) localStorage.setItem(storageKey, [...done, step].join(' ').trim())
}
