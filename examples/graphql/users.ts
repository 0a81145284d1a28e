/** A placeholder for your check of a session or an access token. */
export async function findUserId(authorization: string | undefined): Promise<string | undefined> {
  return authorization === 'Bearer letmein' ? 'ada' : undefined
}
