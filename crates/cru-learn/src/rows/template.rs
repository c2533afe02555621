//! What chat templates of models lose of a conversation, and the shape in which they lose nothing.

use crate::rows::chat::Message;

cru_base::words! {
    /// The family of chat templates that rows are written for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ChatTemplate {
        /// Any that keeps words beside a call.
        #[default]
        Any = "",
        /// Llama 3.1 and its like.
        Llama3 = "llama3",
        /// gpt-oss (Harmony).
        GptOss = "gptoss",
        /// `DeepSeek` V3 and its like.
        DeepSeek = "deepseek",
    }
}

impl ChatTemplate {
    /// The families that lose words beside a call, with what is written for them.
    pub const LOSING: [(&'static str, &'static str); 3] = [
        ("llama3", "Llama 3.1 to 3.3 drop words that stand beside a call"),
        ("gptoss", "gpt-oss drops words that stand beside a call"),
        ("deepseek", "DeepSeek V3 drops words beside a call, and fails on arguments that are no text"),
    ];

    /// The messages, words beside a call as a turn of their own where the templates would drop them, and arguments as text where
    /// they take nothing else.
    pub(crate) fn shaped(self, messages: Vec<Message>) -> Vec<Message> {
        if self == Self::Any {
            return messages;
        }
        let mut shaped = Vec::with_capacity(messages.len());
        for mut message in messages {
            if !message.tool_calls.is_empty() && !message.content.trim().is_empty() {
                let words = std::mem::take(&mut message.content);
                shaped.push(Message { failed: message.failed, ..Message::text(message.role, words) });
            }
            if self == Self::DeepSeek {
                message.tool_calls.iter_mut().for_each(|call| call.function.spell());
            }
            shaped.push(message);
        }
        shaped
    }
}
