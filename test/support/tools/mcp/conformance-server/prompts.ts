import {
  acceptedContent,
  completable,
  type GetPromptResult,
  inputRequired,
  type McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { IMAGE } from './media.ts';

const CITIES = ['paris', 'park', 'party'];

const says = (text: string): GetPromptResult => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
});

export function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, async () =>
    says('This is a simple prompt for testing.'),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments.',
      argsSchema: z.object({
        arg1: completable(z.string(), (value) => CITIES.filter((city) => city.startsWith(value))),
        arg2: z.string(),
      }),
    },
    async ({ arg1, arg2 }) => says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image.' }, async () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: IMAGE, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }));
  const Context = z.object({ context: z.string() });
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks first.' },
    async ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context', Context);
      if (given) return says(`Prompt with context: ${given.context}`);
      const message = 'What context should the prompt use?';
      return inputRequired({
        inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema: Context }) },
      });
    },
  );
}
