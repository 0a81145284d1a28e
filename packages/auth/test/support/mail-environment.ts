/** The environment for a server that sends email to a local port. */
export function toMailEnvironment(port: number) {
  return {
    AUTH_SITE_URL: 'https://site.example',
    AUTH_API_EXTERNAL_URL: 'https://auth.example',
    AUTH_SMTP_HOST: '127.0.0.1',
    AUTH_SMTP_PORT: `${port}`,
    AUTH_SMTP_ADMIN_EMAIL: 'noreply@auth.example',
    AUTH_SMTP_SENDER_NAME: 'Site',
  }
}
